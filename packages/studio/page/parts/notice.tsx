import type { Problem } from '../api.ts'

/** Says what went wrong. */
export function Notice({ problem }: { problem: Problem }) {
  return (
    <p class="notice" role="alert">
      {problem.message} {problem.code?.startsWith('HTTP') === false && <code>{problem.code}</code>}
    </p>
  )
}

/** The text of an empty place. */
export function Empty({ title, text }: { title: string; text: string }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      <p>{text}</p>
    </div>
  )
}
