/** One note per line, as `POST /notes/import` takes them. */
export function ndjson(notes: Iterable<object>): string {
  return Array.from(notes, (note) => `${JSON.stringify(note)}\n`).join('')
}

/** The data of server-sent events. */
export async function* eventsOf(response: Response): AsyncGenerator<Patch, undefined> {
  if (response.body === null) return undefined
  let text = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + piece).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) yield JSON.parse(event.replace(/^data: /, ''))
  }
}

export interface Listed {
  id: number
  title: string
  tags: string
}

interface Patch {
  initial: boolean
  added: { index: number; row: Listed }[]
}
