/** An element, as far as tests need it. */
export interface PageElement {
  textContent: string
  innerHTML: string
  remove(): void
}

interface PageDocument {
  createElement(name: string): PageElement
  readonly body: { append(element: PageElement): void }
}

/** Returns an element of the page with this content. */
export function pageElement(html = ''): PageElement {
  const { document } = globalThis as unknown as { document: PageDocument }
  const element = document.createElement('div')
  element.innerHTML = html
  document.body.append(element)
  return element
}
