import { useState } from 'preact/hooks'
import { type Problem, problemOf } from '../api.ts'
import { shownText } from '../cells.ts'
import { plural } from '../format.ts'
import { Notice } from '../parts/notice.tsx'
import type { Edit, Edits } from './edits.ts'

/** What is staged: how much, each change on demand, and the one button that commits all of it. */
export function EditBar({ edits }: { edits: Edits }) {
  const [isOpen, setOpen] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | undefined>()
  const { all, names } = edits
  if (all.length === 0) return null
  const commit = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await edits.commit()
    } catch (error) {
      setProblem(problemOf(error))
      setOpen(true)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="edit-bar" aria-label="staged changes">
      {isOpen && (
        <ol class="staged">
          {all.map((edit, index) => (
            <li key={names[index]} class={problem?.index === index ? 'failed' : ''}>
              <Change edit={edit} />
              <button
                type="button"
                class="plain"
                aria-label="drop this change"
                onClick={() => edits.drop(names[index] as string)}
              >
                ✕
              </button>
            </li>
          ))}
        </ol>
      )}
      {problem && <Notice problem={problem} />}
      <div class="row">
        <strong>{plural(all.length, 'staged change')}</strong>
        <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Review'}
        </button>
        <span class="grow" />
        <button type="button" disabled={isBusy} onClick={() => edits.discard()}>
          Discard
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={commit}>
          Commit as one batch
        </button>
      </div>
    </section>
  )
}

function Change({ edit: { kind, table, key, set } }: { edit: Edit }) {
  return (
    <span class="change">
      <b>{kind}</b> {table} {key && <code>{key.map(shownText).join(', ')}</code>}{' '}
      {Object.entries(set ?? {}).map(([name, cell]) => (
        <span key={name} class="pair">
          {name} = <code>{shownText(cell)}</code>
        </span>
      ))}
    </span>
  )
}
