/** An event of a stream. */
export interface ParsedEvent {
  name: string
  id: string
  data: string
}

/** Returns a function that takes a stream of events piece by piece, and returns those that a piece completes. */
export function eventParser(): (text: string) => ParsedEvent[] {
  let rest = ''
  let event = { name: '', id: '', data: '' }
  return (text) => {
    const events: ParsedEvent[] = []
    // A large event comes in many pieces: they are joined once, when its line ends.
    if (!/[\r\n]/.test(text) && !rest.endsWith('\r')) {
      rest += text
      return events
    }
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() as string
    for (const line of lines) {
      if (line === '') {
        if (event.data !== '') events.push({ ...event, data: event.data.slice(0, -1) })
        event = { name: '', id: '', data: '' }
      } else {
        const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) as unknown as [string, string, string]
        if (field === 'event') event.name = value
        else if (field === 'id') event.id = value
        else if (field === 'data') event.data += `${value}\n`
      }
    }
    return events
  }
}
