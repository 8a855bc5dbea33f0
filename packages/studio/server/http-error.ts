/** An answer other than 200, with a message for whoever uses the studio. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}
