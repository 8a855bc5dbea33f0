import type { LiveObservable, LiveObserver, LiveQuery, Unsubscribe } from '../core/live-types'
import { observable } from '../core/observable'

/**
 * A live query by the rules of observables: the first error ends the subscription. RxJS and other libraries treat it as one
 * of their own observables.
 */
export class ObservableQuery<V> implements LiveObservable<V> {
  readonly #live: Pick<LiveQuery<V>, 'subscribe'>

  constructor(live: Pick<LiveQuery<V>, 'subscribe'>) {
    this.#live = live
  }

  subscribe(observer: LiveObserver<V>): Unsubscribe {
    const subscription = this.#live.subscribe({
      next: (value, info) => observer.next?.(value, info),
      error: (error) => {
        subscription()
        if (observer.error === undefined) throw error
        observer.error(error)
      },
      complete: () => observer.complete?.(),
    })
    return subscription
  }

  [observable](): this {
    return this
  }
}
