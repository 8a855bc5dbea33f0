import type { DatabaseHandle } from '../channel/database-handle'
import { throwIfAborted } from '../core/abort'
import { checkBody, checkOptions } from '../core/checks'
import type { SnapshotOptions } from '../core/types'
import { handleOf, Queryable, sessionOf } from '../statements/queryable'
import { outcomeOf, Session } from '../statements/session'
import { Op } from '../wire/protocol'

/**
 * The snapshot that the body of {@link Database.snapshot} gets. Its methods work until the body has ended; after that they
 * reject with a {@link TransactionError}.
 */
export class Snapshot extends Queryable {
  readonly #session: Session

  /** @internal */
  constructor(session: Session) {
    super()
    this.#session = session
    collected.register(this, session)
  }

  /** @internal */
  override get [handleOf](): DatabaseHandle {
    return this.#session.owner
  }

  /** @internal */
  override get [sessionOf](): Session {
    return this.#session
  }
}

/** Runs a body on one committed state. */
export async function runSnapshot<T>(
  handle: DatabaseHandle,
  body: (snapshot: Snapshot) => T | PromiseLike<T>,
  options?: SnapshotOptions,
): Promise<T> {
  checkBody('snapshot', body)
  checkOptions('snapshot', options)
  throwIfAborted(options?.signal)
  const session = new Session('snapshot', handle, handle.channel.newSession())
  const unwatch = session.watch(options)
  handle.add(session)
  try {
    await session.begin(Op.SNAPSHOT, (writer) => writer.u32(session.id))
    // Only the body refers to the `Snapshot`, so that it is collected when the body can never end.
    return await session.settle(() => outcomeOf(() => body(new Snapshot(session))))
  } finally {
    handle.remove(session)
    unwatch()
  }
}

/** Releases the connections of snapshots that were garbage-collected, such as those whose bodies never end. */
const collected = new FinalizationRegistry<Session>((session) => {
  if (session.isOpen) session.rollback()
})
