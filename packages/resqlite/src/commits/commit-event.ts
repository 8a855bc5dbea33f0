import type { CommitEvent } from '../core/live-types'
import type { ColumnValue, Row } from '../core/types'

/** A value that JSON cannot express, as the native side writes it. */
type Tagged = { integer: string } | { real: string } | { blob: string }

/** A row of an event, as the native side writes it. */
type TaggedRow = Record<string, ColumnValue | Tagged>

interface TaggedChange {
  key: TaggedRow
  old?: TaggedRow | null
  new?: TaggedRow | null
}

/** Reads an event, with the values of its rows as `select` returns them. */
export function readEvent(json: string): CommitEvent {
  const event = JSON.parse(json)
  for (const { rows } of event.tables ?? []) {
    if (Array.isArray(rows)) rows.forEach(untagChange)
  }
  return event
}

/** Gives the values of a change the form in which `select` returns them. */
export function untagChange(change: TaggedChange): void {
  untag(change.key)
  if (change.old) untag(change.old)
  if (change.new) untag(change.new)
}

function untag(row: TaggedRow): asserts row is Row {
  for (const name of Object.keys(row)) {
    const value = row[name]
    if (typeof value === 'object' && value !== null) row[name] = untagged(value as Tagged)
  }
}

function untagged(value: Tagged): ColumnValue {
  if ('integer' in value) return BigInt(value.integer)
  if ('real' in value) return Number(value.real)
  return Buffer.from(value.blob, 'base64')
}
