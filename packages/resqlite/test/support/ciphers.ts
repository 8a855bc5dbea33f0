import { join } from 'node:path'

/** Whether the native module that the package loads can encrypt. */
export function canEncrypt(): boolean {
  const native = require(
    join(__dirname, '..', '..', '..', 'dist', 'wire', 'native.js'),
  ) as typeof import('../../src/wire/native')
  return native.nativeBinding().canEncrypt()
}
