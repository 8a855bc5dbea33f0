import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Answer, Pending, type Replied } from '../src/channel/pending'
import { Lookout } from '../src/channel/poll-backoff'
import { Awake } from '../src/channel/reply-poller'
import { LOOKOUT_PAUSE, LOOKOUT_TURNS } from '../src/core/limits'
import type { LiveRequest } from '../src/live/live-request'
import { Op, Reply } from '../src/wire/protocol'

/** A call of a lookout that is in vain, or let go by; whether it looked. */
function inVain(lookout: Lookout): boolean {
  lookout.begin()
  const looked = lookout.looks
  for (let turn = 0; turn < LOOKOUT_TURNS; turn++) lookout.turn()
  assert.ok(!lookout.looks)
  return looked
}

/** How many calls go by without looking before the next that looks. */
function callsLetGo(lookout: Lookout): number {
  for (let calls = 0; ; calls++) if (inVain(lookout)) return calls
}

test('lookout: looks for a fixed number of turns', () => {
  const lookout = new Lookout()
  lookout.begin()
  let turns = 0
  for (; lookout.looks; turns++) lookout.turn()
  assert.equal(turns, LOOKOUT_TURNS)
})

test('lookout: lets more calls go by each time that it was in vain, up to a bound', () => {
  const lookout = new Lookout()
  const letGo = Array.from({ length: 9 }, () => callsLetGo(lookout))
  assert.deepEqual(letGo, [0, 1, 3, 7, 15, 31, 63, LOOKOUT_PAUSE, LOOKOUT_PAUSE])
})

test('lookout: lets half as many calls go by each time that something came while it looked', () => {
  const lookout = new Lookout()
  while (callsLetGo(lookout) < LOOKOUT_PAUSE);
  const letGo: number[] = []
  for (let times = 0; times < 9; times++) {
    let calls = 0
    for (lookout.begin(); !lookout.looks; lookout.begin()) calls++
    letGo.push(calls)
    lookout.came()
  }
  assert.deepEqual(letGo, [LOOKOUT_PAUSE, 0, 0, 0, 0, 0, 0, 0, 0])
  inVain(lookout)
  assert.equal(callsLetGo(lookout), 1)
})

test('lookout: what comes when it does not look says nothing', () => {
  const lookout = new Lookout()
  inVain(lookout)
  lookout.begin()
  lookout.came()
  assert.ok(inVain(lookout), 'one call was let go by')
  lookout.came()
  assert.equal(callsLetGo(lookout), 3)
})

test('lookout: what one thing has taught says nothing about another', () => {
  const lookout = new Lookout(2)
  inVain(lookout)
  lookout.begin(1)
  assert.ok(lookout.looks)
  lookout.came()
  lookout.begin(0)
  assert.ok(!lookout.looks)
})

test('lookout: forgets what was in vain', () => {
  const lookout = new Lookout()
  while (callsLetGo(lookout) < LOOKOUT_PAUSE);
  lookout.forget()
  assert.equal(callsLetGo(lookout), 0)
})

/** An event loop that counts how often it was looked for replies, and what the native side was told last. */
class Loop {
  readonly awake: Awake
  looked = 0
  /** The native side need not wake the realm. */
  told = false

  constructor(cores = 2) {
    const turn = () => {
      this.looked++
      this.told = this.awake.drains()
    }
    this.awake = new Awake(turn, cores)
  }

  ask(request: Replied): void {
    this.awake.awaits(request, Op.SELECT)
    this.told = this.awake.submits() || this.told
  }

  call(): void {
    this.ask(new Pending(Answer.REPLY, false, false))
  }

  write(): void {
    this.call()
    this.awake.answered(Reply.WRITTEN)
  }

  stream(): LiveRequest {
    const request = { answer: Answer.STREAM, heard: false } as LiveRequest
    this.ask(request)
    return request
  }

  /** A live query that has given its first result. */
  openStream(): LiveRequest {
    const stream = this.stream()
    this.awake.hears(stream, Reply.EMIT, false)
    return stream
  }

  /** One in which a turn has come already. */
  static async begun(cores = 2): Promise<Loop> {
    const loop = new Loop(cores)
    loop.call()
    loop.awake.answered(Reply.OK)
    loop.awake.drains()
    await loop.turns(1)
    loop.looked = 0
    return loop
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

test('awake: the native side is told nothing before a turn has come, as those of faked timers never do', async () => {
  const loop = new Loop()
  loop.call()
  assert.ok(!loop.told)
  await loop.turns(1)
  assert.ok(loop.awake.drains())
})

test('awake: looks for the answer to the only call, and then tells that it does no more', async () => {
  const loop = await Loop.begun()
  loop.call()
  assert.ok(loop.told)
  await loop.turns(3)
  assert.ok(loop.looked >= 2)
  loop.awake.answered(Reply.OK)
  assert.ok(!loop.awake.drains())
})

test('awake: after turns in vain the native side is told to wake the realm', async () => {
  const loop = await Loop.begun()
  loop.call()
  await loop.turns(LOOKOUT_TURNS + 2)
  assert.equal(loop.looked, LOOKOUT_TURNS)
  assert.ok(!loop.told)
})

test('awake: a second call ends looking, and the native side is told', async () => {
  const loop = await Loop.begun()
  loop.call()
  loop.call()
  assert.ok(loop.told, 'until the next turn')
  await loop.turns(2)
  assert.equal(loop.looked, 1)
  assert.ok(!loop.told)
})

test('awake: what follows a call without an answer of its own does not make it look longer', async () => {
  const loop = await Loop.begun()
  loop.call()
  await loop.turns(LOOKOUT_TURNS + 2)
  assert.ok(!loop.awake.submits())
})

test('awake: does not look for one of several answers', async () => {
  const loop = await Loop.begun()
  loop.call()
  loop.call()
  await loop.turns(2)
  loop.awake.answered(Reply.OK)
  assert.ok(!loop.awake.submits(), 'one is left, and something is sent')
  loop.awake.answered(Reply.OK)
  assert.ok(!loop.awake.drains())
})

test('awake: looks for the first result of a live query', async () => {
  const loop = await Loop.begun()
  const stream = loop.stream()
  assert.ok(loop.awake.drains())
  loop.awake.hears(stream, Reply.ROWS, false)
  loop.awake.hears(stream, Reply.EMIT, false)
  assert.ok(!loop.awake.drains())
})

test('awake: looks for what a write brings to a live query', async () => {
  const loop = await Loop.begun()
  const stream = loop.openStream()
  loop.write()
  assert.ok(loop.awake.drains())
  loop.awake.hears(stream, Reply.EMIT, false)
  assert.ok(!loop.awake.drains())
})

test('awake: looks for nothing after a write where no live query is open', async () => {
  const loop = await Loop.begun()
  const stream = loop.openStream()
  loop.awake.hears(stream, Reply.OK, true)
  loop.write()
  assert.ok(!loop.awake.drains())
})

test('awake: never looks with a single core', async () => {
  const loop = await Loop.begun(1)
  loop.openStream()
  loop.write()
  await loop.turns(2)
  assert.deepEqual([loop.told, loop.looked], [false, 0])
})
