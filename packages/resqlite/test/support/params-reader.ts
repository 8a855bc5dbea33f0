import { Tag } from '../../src/wire/protocol'

/** A parameter as the native side would read it. */
export interface Param {
  name?: string
  tag: keyof typeof Tag
  value: unknown
}

/** The texts that stand behind the sets of a batch, and where the next one begins. */
export interface DeferredTexts {
  text: string
  at: number
}

/** Reads the parameters of one statement; returns them with the offset behind them. */
export function readParams(
  bytes: Buffer,
  start = 0,
  texts?: DeferredTexts,
): { params: Param[]; end: number } {
  const count = bytes.readUInt16LE(start)
  const named = bytes[start + 2] === 1
  let at = start + 4
  const params: Param[] = []
  for (let i = 0; i < count; i++) {
    let name: string | undefined
    if (named) {
      const length = bytes.readUInt16LE(at)
      name = bytes.toString('utf8', at + 2, at + 2 + length)
      at += 2 + length
    }
    const tag = tagName(bytes[at] as number)
    const { value, length } = readValue(bytes, at + 1, tag, texts)
    params.push(name === undefined ? { tag, value } : { name, tag, value })
    at += 1 + length
  }
  return { params, end: at }
}

function tagName(tag: number): keyof typeof Tag {
  const found = Object.entries(Tag).find(([, number]) => number === tag)
  if (found === undefined) throw new Error(`unknown tag ${tag}`)
  return found[0] as keyof typeof Tag
}

function readValue(
  bytes: Buffer,
  at: number,
  tag: keyof typeof Tag,
  texts: DeferredTexts | undefined,
): { value: unknown; length: number } {
  switch (tag) {
    case 'NULL':
      return { value: null, length: 0 }
    case 'INT32':
      return { value: bytes.readInt32LE(at), length: 4 }
    case 'INT64':
      return { value: bytes.readBigInt64LE(at), length: 8 }
    case 'INTEGER':
    case 'REAL':
      return { value: bytes.readDoubleLE(at), length: 8 }
    case 'DEFERRED': {
      if (texts === undefined) throw new Error('no texts stand behind these parameters')
      const start = texts.at
      texts.at += bytes.readUInt32LE(at)
      return { value: texts.text.slice(start, texts.at), length: 4 }
    }
    default: {
      const length = bytes.readUInt32LE(at)
      const content = bytes.subarray(at + 4, at + 4 + length)
      return { value: tag === 'TEXT' ? content.toString('utf8') : Buffer.from(content), length: 4 + length }
    }
  }
}
