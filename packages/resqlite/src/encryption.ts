import type { DatabaseHandle } from './channel/database-handle'
import { checkKey, refused } from './core/checks'
import { ResqliteError } from './core/errors'
import { unwrap } from './core/failure'
import type { EncryptionKey } from './core/types'
import { nativeBinding, whyNoCiphers } from './wire/native'
import { Op } from './wire/protocol'

/** A key in the form that the native side accepts. */
type KeyMessage = { passphrase: string } | { raw: string }

/** Returns the key for the native side. Throws if there is no native module that can encrypt. */
export function keyMessage(key: EncryptionKey | undefined): KeyMessage | undefined {
  if (key === undefined) return undefined
  if (!nativeBinding().canEncrypt()) {
    throw new ResqliteError(`a key needs the package @resqlite/ciphers${advice()}`, 'RESQLITE_ENCRYPTION_KEY')
  }
  return typeof key === 'string' ? { passphrase: key } : { raw: Buffer.from(key).toString('hex') }
}

function advice(): string {
  const reason = whyNoCiphers()
  return reason === undefined
    ? '; install it beside resqlite, in the same version: npm install @resqlite/ciphers'
    : `, which is installed and cannot be loaded: ${reason}`
}

export async function runRekey(handle: DatabaseHandle, key: EncryptionKey): Promise<void> {
  const expected = checkKey(key)
  if (expected !== undefined) throw refused(`rekey: the key must be ${expected}`)
  const message = JSON.stringify(keyMessage(key))
  const { channel, flags, id } = handle
  unwrap(await channel.request(Op.REKEY, flags, id, (writer) => writer.text(message)).promise)
}
