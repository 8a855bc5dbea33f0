import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { SQLite, sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language'
import { type Diagnostic, linter, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, Prec } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { ask, type Problem, problemOf } from '../api.ts'
import type { Table } from '../types.ts'

/** The input and the events of an editor. */
export interface EditorEvents {
  run(): void
  explain(): void
  changed(text: string): void
}

/** An editor of SQL. It stands in a shadow root, where its styles need no permission of the page's policy. */
export class SqlEditor {
  readonly #view: EditorView
  readonly #schema = new Compartment()

  constructor(host: HTMLElement, text: string, events: EditorEvents) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const keys = [
      { key: 'Mod-Enter', run: (view: EditorView) => told(view, events.run) },
      { key: 'Mod-e', run: (view: EditorView) => told(view, events.explain) },
    ]
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        placeholder('SELECT …'),
        syntaxHighlighting(colours),
        linter((view) => this.#check(view), { delay: 350 }),
        this.#schema.of(sql({ dialect: SQLite })),
        Prec.highest(keymap.of(keys)),
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          indentWithTab,
        ]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) events.changed(update.state.doc.toString())
        }),
        theme,
      ],
    })
    this.#view = new EditorView({ state, parent: root, root })
    this.#view.focus()
  }

  /** Completes the names of these tables and their columns. */
  setTables(tables: readonly Table[]): void {
    const schema = Object.fromEntries(
      tables.map((table) => [
        table.schema === 'main' ? table.name : `${table.schema}.${table.name}`,
        table.columns.map(({ name, type }) => ({
          label: name,
          detail: type.toLowerCase(),
          type: 'property',
        })),
      ]),
    )
    const columns = SQLite.language.data.of({
      autocomplete: (at: CompletionContext) => columnsFor(at, tables),
    })
    this.#view.dispatch({ effects: this.#schema.reconfigure([sql({ dialect: SQLite, schema }), columns]) })
  }

  /** The statement at the cursor, and where it begins. */
  get statement(): { readonly text: string; readonly from: number } {
    return statementAt(this.#view.state)
  }

  /** Marks where a statement failed. */
  mark(problem: Problem, from: number): void {
    const { state } = this.#view
    this.#view.dispatch(setDiagnostics(state, [diagnosticOf(state, problem, from)]))
  }

  close(): void {
    this.#view.destroy()
  }

  /** Prepares the statement at the cursor, without running it. */
  async #check(view: EditorView): Promise<Diagnostic[]> {
    const { text, from } = statementAt(view.state)
    if (text.trim() === '') return []
    try {
      await ask('describe', { sql: text })
      return []
    } catch (error) {
      const problem = problemOf(error)
      return problem.code?.startsWith('SQLITE') ? [diagnosticOf(view.state, problem, from)] : []
    }
  }
}

/** The columns of the tables that the statement names: the language itself completes them only behind a table and a dot. */
function columnsFor(context: CompletionContext, tables: readonly Table[]): CompletionResult | null {
  const word = context.matchBefore(/\w+/)
  if (word === null || context.matchBefore(/\.\w*/) !== null) return null
  const { text } = statementAt(context.state)
  const words = new Set(text.toLowerCase().match(/\w+/g))
  const named = tables.filter(({ name }) => words.has(name.toLowerCase()))
  const options = named.flatMap((table) =>
    table.columns.map(({ name, type }) => ({
      label: name,
      detail: `${table.name} ${type.toLowerCase()}`,
      type: 'property',
      boost: 1,
    })),
  )
  return { from: word.from, options, validFor: /^\w*$/ }
}

/** Closes the list of completions, which would cover the result. */
function told(view: EditorView, event: () => void): true {
  closeCompletion(view)
  event()
  return true
}

/** The grammar knows where statements end; a cursor between two means the one before. */
function statementAt(state: EditorState): { text: string; from: number } {
  const { head } = state.selection.main
  const tree = syntaxTree(state)
  let found: { from: number; to: number } | undefined
  for (let node = tree.topNode.firstChild; node !== null; node = node.nextSibling) {
    if (node.name === 'Statement' && (found === undefined || node.from <= head)) found = node
  }
  const { from, to } = found ?? { from: 0, to: state.doc.length }
  return { text: state.sliceDoc(from, to), from }
}

function diagnosticOf(state: EditorState, { message, offset }: Problem, start: number): Diagnostic {
  const at = Math.min(state.doc.length, start + (offset ?? 0))
  const word = state.wordAt(at)
  const from = offset === undefined ? start : (word?.from ?? at)
  const to = offset === undefined ? start + 1 : (word?.to ?? Math.min(state.doc.length, at + 1))
  return { from, to: Math.max(from, Math.min(to, state.doc.length)), severity: 'error', message }
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--faint)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--code-number)' },
])

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', background: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-gutters': { background: 'transparent', color: 'var(--faint)', border: 'none', paddingLeft: '6px' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--text) 4%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-tooltip': {
    background: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    color: 'var(--text)',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px', fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--faint)', fontStyle: 'normal', marginLeft: '10px' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '600' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-placeholder': { color: 'var(--faint)' },
})
