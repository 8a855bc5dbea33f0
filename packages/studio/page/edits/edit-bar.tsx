import { useEffect, useState } from 'preact/hooks'
import { shownText } from '../../cells/cell.ts'
import { type Problem, problemOf } from '../api.ts'
import { plural } from '../format.ts'
import { Notice } from '../parts/notice.tsx'
import type { Edit, Edits } from './edits.ts'

/** Why a commit failed, and the name of the edit to blame. It is told until the edits change. */
interface Failure {
  readonly problem: Problem
  readonly name: string | undefined
  readonly version: number
}

/** The staged changes: their number, each change on demand, and the one button that commits all of them. */
export function EditBar({ edits }: { edits: Edits }) {
  const [isOpen, setOpen] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | undefined>()
  const { all, names } = edits
  useStaying(all.length > 0)
  const { problem, name: failed } = failure?.version === edits.version ? failure : {}
  if (all.length === 0) return null
  const commit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await edits.commit()
    } catch (error) {
      const problem = problemOf(error)
      setFailure({ problem, name: names[problem.index ?? -1], version: edits.version })
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
            <li key={names[index]} class={names[index] === failed ? 'failed' : ''}>
              <Change edit={edit} />
              {names[index] === failed && problem?.conflicts && (
                <Conflicts
                  conflicts={problem.conflicts}
                  onOverwrite={(conflicts) => edits.overwrite(names[index] as string, conflicts)}
                />
              )}
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

/** Lets the browser ask before it leaves the page: what is staged is in the page only. */
function useStaying(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isNeeded])
}

interface ConflictsProps {
  readonly conflicts: NonNullable<Problem['conflicts']>
  readonly onOverwrite: (conflicts: NonNullable<Problem['conflicts']>) => void
}

/** The values that the row of an edit had when it was staged, and those that somebody has made of them. */
function Conflicts({ conflicts, onOverwrite }: ConflictsProps) {
  return (
    <span class="change">
      {Object.entries(conflicts).map(([name, { old, now }]) => (
        <span key={name}>
          {name} was <code>{shownText(old)}</code> and is now <code>{shownText(now)}</code>
        </span>
      ))}
      <button type="button" onClick={() => onOverwrite(conflicts)}>
        Overwrite
      </button>
    </span>
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
