import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlannedTurn } from '../src/channel/event-loop'
import { Answer, type OpenRequest, Pending, type StreamRequest } from '../src/channel/pending'
import { PollBackoff, ReplyPoller } from '../src/channel/reply-poller'
import { MAX_POLL_BACKOFF, POLL_TURNS } from '../src/core/limits'
import { Op, ReplyKind } from '../src/wire/protocol'

const KIND = 0

function newBackoff(): PollBackoff {
  return new PollBackoff(2)
}

/** One fruitless or skipped attempt; returns whether it polled. */
function fruitless(backoff: PollBackoff): boolean {
  backoff.begin(KIND)
  const polled = backoff.isPolling
  for (let turn = 0; turn < POLL_TURNS; turn++) backoff.turn()
  assert.ok(!backoff.isPolling)
  return polled
}

/** Counts the attempts that are skipped before the next that polls, which is fruitless too. */
function skippedAttempts(backoff: PollBackoff): number {
  for (let attempts = 0; ; attempts++) if (fruitless(backoff)) return attempts
}

test('back-off: an attempt polls for a fixed number of turns', () => {
  const backoff = newBackoff()
  backoff.begin(KIND)
  let turns = 0
  for (; backoff.isPolling; turns++) backoff.turn()
  assert.equal(turns, POLL_TURNS)
})

test('back-off: each fruitless attempt skips more of the following ones, up to a limit', () => {
  const backoff = newBackoff()
  const skipped = Array.from({ length: 9 }, () => skippedAttempts(backoff))
  assert.deepEqual(skipped, [0, 1, 3, 7, 15, 31, 63, MAX_POLL_BACKOFF, MAX_POLL_BACKOFF])
})

test('back-off: each arrival while polling halves the next back-off', () => {
  const backoff = newBackoff()
  while (skippedAttempts(backoff) < MAX_POLL_BACKOFF);
  const skipped: number[] = []
  for (let times = 0; times < 9; times++) {
    let attempts = 0
    for (backoff.begin(KIND); !backoff.isPolling; backoff.begin(KIND)) attempts++
    skipped.push(attempts)
    backoff.arrived()
  }
  assert.deepEqual(skipped, [MAX_POLL_BACKOFF, 0, 0, 0, 0, 0, 0, 0, 0])
  fruitless(backoff)
  assert.equal(skippedAttempts(backoff), 1)
})

test('back-off: an arrival while not polling changes nothing', () => {
  const backoff = newBackoff()
  fruitless(backoff)
  backoff.begin(KIND)
  backoff.arrived()
  assert.ok(fruitless(backoff), 'one attempt was skipped')
  backoff.arrived()
  assert.equal(skippedAttempts(backoff), 3)
})

test('back-off: each kind has its own', () => {
  const backoff = newBackoff()
  fruitless(backoff)
  backoff.begin(1)
  assert.ok(backoff.isPolling)
  backoff.arrived()
  backoff.begin(KIND)
  assert.ok(!backoff.isPolling)
})

test('back-off: a reset forgets all fruitless attempts', () => {
  const backoff = newBackoff()
  while (skippedAttempts(backoff) < MAX_POLL_BACKOFF);
  backoff.reset()
  assert.equal(skippedAttempts(backoff), 0)
})

/** An event loop that counts how often it polled, with the last state that the native side was told. */
class Loop {
  readonly poller: ReplyPoller
  polled = 0
  /** The native side takes this realm for one that polls. */
  told = false

  constructor(cores = 2) {
    const nextTurn = new PlannedTurn(() => {
      if (!this.poller.turn()) return
      this.polled++
      this.told = this.poller.drain()
    })
    this.poller = new ReplyPoller(nextTurn, cores)
  }

  send(request: OpenRequest): void {
    this.poller.request(request, Op.SELECT)
    this.told = this.poller.flush() || this.told
  }

  call(): Pending {
    const pending = new Pending(Answer.REPLY, false, 0)
    this.send(pending)
    return pending
  }

  answer(pending: Pending, kind: number = ReplyKind.OK): void {
    this.poller.reply(pending, kind, true)
  }

  write(): void {
    this.answer(this.call(), ReplyKind.WRITTEN)
  }

  liveQuery(): StreamRequest {
    const request = { answer: Answer.STREAM, hasReceivedFrame: false } as StreamRequest
    this.send(request)
    return request
  }

  /** Opens a live query and gives it its first result. */
  openLiveQuery(): StreamRequest {
    const request = this.liveQuery()
    this.poller.reply(request, ReplyKind.EMIT, false)
    return request
  }

  /** A loop in which a planned turn has run already. */
  static async begun(cores = 2): Promise<Loop> {
    const loop = new Loop(cores)
    loop.answer(loop.call())
    loop.poller.drain()
    await loop.turns(1)
    loop.polled = 0
    return loop
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

test('polling: the native side is not told before a planned turn has run, as none does while timers are faked', async () => {
  const loop = new Loop()
  loop.call()
  assert.ok(!loop.told)
  await loop.turns(1)
  assert.ok(loop.poller.drain())
})

test('polling: lasts until the only call is answered', async () => {
  const loop = await Loop.begun()
  const call = loop.call()
  assert.ok(loop.told)
  await loop.turns(3)
  assert.ok(loop.polled >= 2)
  loop.answer(call)
  assert.ok(!loop.poller.drain())
})

test('polling: after fruitless turns the native side is told to wake the realm', async () => {
  const loop = await Loop.begun()
  loop.call()
  await loop.turns(POLL_TURNS + 2)
  assert.equal(loop.polled, POLL_TURNS)
  assert.ok(!loop.told)
})

test('polling: a second call ends it, and the native side is told', async () => {
  const loop = await Loop.begun()
  loop.call()
  loop.call()
  assert.ok(loop.told, 'until the next turn')
  await loop.turns(2)
  assert.equal(loop.polled, 1)
  assert.ok(!loop.told)
})

test('polling: a frame that gets no reply does not prolong it', async () => {
  const loop = await Loop.begun()
  loop.call()
  await loop.turns(POLL_TURNS + 2)
  assert.ok(!loop.poller.flush())
})

test('polling: does not happen while several calls are outstanding', async () => {
  const loop = await Loop.begun()
  const first = loop.call()
  const second = loop.call()
  await loop.turns(2)
  loop.answer(first)
  assert.ok(!loop.poller.flush(), 'one is left, and something is sent')
  loop.answer(second)
  assert.ok(!loop.poller.drain())
})

test('polling: lasts until the first frame of a live query', async () => {
  const loop = await Loop.begun()
  const request = loop.liveQuery()
  assert.ok(loop.poller.drain())
  loop.poller.reply(request, ReplyKind.ROWS, false)
  loop.poller.reply(request, ReplyKind.EMIT, false)
  assert.ok(!loop.poller.drain())
})

test('polling: lasts from a write until the emission that it causes', async () => {
  const loop = await Loop.begun()
  const request = loop.openLiveQuery()
  loop.write()
  assert.ok(loop.poller.drain())
  loop.poller.reply(request, ReplyKind.EMIT, false)
  assert.ok(!loop.poller.drain())
})

test('polling: does not follow a write when no live query is open', async () => {
  const loop = await Loop.begun()
  const request = loop.openLiveQuery()
  loop.poller.reply(request, ReplyKind.OK, true)
  loop.write()
  assert.ok(!loop.poller.drain())
})

test('polling: never happens with a single core', async () => {
  const loop = await Loop.begun(1)
  loop.openLiveQuery()
  loop.write()
  await loop.turns(2)
  assert.deepEqual([loop.told, loop.polled], [false, 0])
})
