/** Why a remote query has no present value. */
export class RemoteError extends Error {
  /**
   * The code with which the live query failed on the server, such as `'SQLITE_BUSY'`; or `'HTTP_404'` for the status of an
   * answer, and `'HTTP_TYPE'` if the answer was something else than events.
   */
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }

  override get name(): string {
    return 'RemoteError'
  }
}
