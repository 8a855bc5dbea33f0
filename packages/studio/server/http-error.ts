/** An answer other than 200, with a message for whoever uses the studio, and further facts for the page. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly facts: object = {},
  ) {
    super(message)
  }
}
