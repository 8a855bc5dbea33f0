import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A cell that can be edited where it stands. */
export interface EditableCell {
  readonly text: string
  /** Why a text is no value of the cell. */
  readonly misfit: (text: string) => string | undefined
  readonly save: (text: string) => void
}

interface Props {
  readonly cell: EditableCell
  readonly label: string
  readonly left: string
  readonly width: string
  /** It is done: the value was saved, or not. */
  readonly onEnd: () => void
}

/** The input over a cell. Enter, Tab and leaving save what was typed, if it is a value; Escape does not. */
export function CellEditor({ cell, label, left, width, onEnd }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  const [text, setText] = useState(cell.text)
  const wrong = cell.misfit(text)
  useLayoutEffect(() => {
    input.current?.focus({ preventScroll: true })
    input.current?.select()
  }, [])
  const end = (saves: boolean) => {
    if (isDone.current) return
    isDone.current = true
    if (saves && text !== cell.text) cell.save(text)
    onEnd()
  }
  return (
    <div class="cell-editor" style={{ left, width }}>
      <input
        ref={input}
        aria-label={label}
        aria-invalid={wrong !== undefined}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={() => end(wrong === undefined)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Escape') end(false)
          else if ((event.key === 'Enter' || event.key === 'Tab') && wrong === undefined) end(true)
          else return
          event.preventDefault()
        }}
      />
      {wrong !== undefined && text !== cell.text && <p role="alert">{wrong}</p>}
    </div>
  )
}
