import { ReflectionKind } from 'typedoc'

/** The classes and interfaces with a section each, and the name that an object of theirs has on the page. */
const objects = {
  Queryable: 'queryable',
  Executor: 'executor',
  Database: 'db',
  Transaction: 'tx',
  TransactionHandle: 'handle',
  Snapshot: 'snap',
  LiveQuery: 'live',
  ChangeFeed: 'feed',
  SqlQuery: 'query',
  Utf8: 'text',
}

const head = `# API

Everything that the package \`resqlite\` exports: methods, options with their defaults, results, errors. Made from the doc
comments by \`npm run docs:api\`; [using.md](using.md) and [live-queries.md](live-queries.md) explain by examples.
`

/** The text of docs/api.md, made from what TypeDoc read. */
export class ApiPage {
  /** Public items without a doc comment, and options without a default. */
  gaps = []
  /** Exports that no section shows. */
  lost = []

  /** `declarations` gives the syntax nodes of an item: TypeDoc's own texts of types and signatures are shortened. */
  constructor(project, declarations) {
    this.declarations = declarations
    const all = project.children.toSorted((a, b) => a.name.localeCompare(b.name))
    const errors = all.filter((item) => item.kind === ReflectionKind.Class && /Error$/.test(item.name))
    const tables = all.filter((item) => item.kind === ReflectionKind.Interface && !(item.name in objects))
    const isOptions = (item) => /(Options|Limits)$/.test(item.name)
    this.sections = {
      ...Object.fromEntries(Object.keys(objects).map((name) => [name, project.getChildByName([name])])),
      Options: tables.filter(isOptions),
      Results: tables.filter((item) => !isOptions(item)),
      Types: all.filter((item) => item.kind === ReflectionKind.TypeAlias),
      Errors: errors,
      Functions: all.filter((item) => item.kind === ReflectionKind.Function || item.name === 'sql'),
    }
    const shown = new Set(Object.values(this.sections).flat())
    this.lost = all.filter((item) => !shown.has(item)).map(({ name }) => name)
  }

  text() {
    const names = Object.keys(this.sections)
    const contents = names.map((name) => `- [${name}](#${name.toLowerCase()})${this.index(name)}`).join('\n')
    return `${[head, contents, ...names.map((name) => this.section(name))].join('\n').trimEnd()}\n`
  }

  index(name) {
    const items = this.sections[name]
    const links = Array.isArray(items)
      ? items
      : items.children.filter((child) => isMethod(child) && !child.inheritedFrom)
    return links.length === 0 ? '' : `: ${links.map((item) => this.link(item)).join(', ')}`
  }

  section(name) {
    const items = this.sections[name]
    if (!Array.isArray(items)) return this.object(items)
    return `\n## ${name}\n${items.map((item) => this.item(item, name)).join('')}`
  }

  /** A class or interface with methods. */
  object(item) {
    const properties = item.children.filter((child) => !isMethod(child) && !child.inheritedFrom)
    const methods = item.children.filter((child) => isMethod(child) && !child.inheritedFrom)
    const table = properties.filter(({ kind }) => kind !== ReflectionKind.Constructor)
    return `\n## ${item.name}\n\n${this.comment(item)}\n${this.inherited(item)}${this.table(table)}${methods.map((method) => this.item(method)).join('')}`
  }

  /** A line about the methods that another section shows. */
  inherited({ name, extendedTypes = [] }) {
    const bases = extendedTypes.map(({ reflection }) => reflection).filter((base) => base?.name in objects)
    return bases.map((base) => `\n${name} has all methods of ${this.link(base)}, too.\n`).join('')
  }

  item(item, section) {
    const title = `\n### ${heading(item)}\n`
    if (item.signatures && section !== 'Results') {
      const written = this.code(item)
      return `${title}\n${written}\n${this.comment(item.signatures[0])}\n${this.mentioned(written)}`
    }
    if (section === 'Types') return `${title}\n${this.code(item)}\n${this.comment(item)}\n`
    const fields = item.children?.filter(
      ({ name, kind, inheritedFrom }) =>
        (kind === ReflectionKind.Property || isMethod({ kind })) &&
        !name.startsWith('[') &&
        !(inheritedFrom && section === 'Errors'),
    )
    return `${title}\n${this.comment(item.signatures?.[0] ?? item)}\n${this.table(fields ?? [], section === 'Options')}`
  }

  /** The signatures, or the type, as they are written in the source. */
  code(item) {
    const nodes = this.declarations(item)
    const shown = nodes.length > 1 ? nodes.filter(({ body }) => !body) : nodes
    return `\`\`\`ts\n${shown.map((node) => (node.parameters ? signature(node) : node.getText().replace(/^export /, ''))).join('\n')}\n\`\`\`\n`
  }

  /** Links to the options and results that a signature names: a block of code cannot have links. */
  mentioned(text) {
    const items = [...this.sections.Options, ...this.sections.Results].filter(({ name }) =>
      new RegExp(`\\b${name}\\b`).test(text),
    )
    return items.length === 0 ? '' : `\nSee ${items.map((item) => this.link(item)).join(', ')}.\n`
  }

  table(fields, withDefaults = false) {
    if (fields.length === 0) return ''
    const rows = fields.flatMap((field) => this.rows(field, '', withDefaults))
    const columns = withDefaults ? ['option', 'type', 'default', ''] : ['property', 'type', '']
    const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
    return `\n${lines.join('\n')}\n`
  }

  /** The type of a table cell, with a link if this page describes it. */
  type(text) {
    const known = Object.values(this.sections)
      .flat()
      .find(({ name }) => name === String(text))
    return known ? this.link(known) : code(text)
  }

  /** One row for a property, and one for each part of a property that is an object. */
  rows(field, prefix, withDefaults) {
    const name = `\`${prefix}${field.name}${field.flags.isOptional ? '?' : ''}\``
    const [node] = this.declarations(field)
    const parts = field.type?.declaration?.children
    const type = parts
      ? 'object'
      : isMethod(field)
        ? code(functionType(node))
        : this.type(typeOf(field, node))
    const told = this.comment(field.getSignature ?? field.signatures?.[0] ?? field, parts === undefined)
      .replace(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|')
    const [text, standard] = withDefaults ? splitDefault(told) : [told]
    if (withDefaults && field.flags.isOptional && !standard)
      this.gaps.push(`${field.getFullName()} names no default`)
    const row = withDefaults ? [name, type, standard, text] : [name, type, text]
    return [row, ...(parts ?? []).flatMap((part) => this.rows(part, `${prefix}${field.name}.`, withDefaults))]
  }

  comment(item, required = true) {
    const { comment } = item
    if (!comment && required) this.gaps.push(`${item.getFullName()} has no doc comment`)
    return [comment?.summary ?? [], ...(comment?.blockTags ?? []).map(({ content }) => content)]
      .map((parts) =>
        parts.map((part) => (part.tag === '@link' ? this.link(part.target, part.text) : part.text)).join(''),
      )
      .join('\n\n')
      .trim()
  }

  /** A link to an item; a property has no heading, so the link leads to its owner. */
  link(target, text) {
    const owner =
      target?.kind === ReflectionKind.Property || target?.kind === ReflectionKind.Accessor
        ? target.parent
        : target
    if (!owner?.kindOf) return `\`${text}\``
    return `[\`${owner === target ? heading(target) : text}\`](#${heading(owner)
      .replace(/[^\w-]/g, '')
      .toLowerCase()})`
  }
}

const isMethod = ({ kind }) => kind === ReflectionKind.Method

/** `db.select`, `Database.open`, `SelectOptions` */
function heading(item) {
  if (!isMethod(item)) return item.name
  const name = item.name.startsWith('[') ? item.name : `.${item.name}`
  return `${item.flags.isStatic ? item.parent.name : objects[item.parent.name]}${name}`
}

/** On one line if it fits, otherwise with a line for each parameter; without `this`, which callers do not write. */
function signature(node) {
  const parameters = node.parameters
    .filter(({ name }) => name.text !== 'this')
    .map((parameter) => parameter.getText())
  const types = node.typeParameters ? `<${node.typeParameters.map((type) => type.getText()).join(', ')}>` : ''
  const write = (list) => `${node.name.getText()}${types}(${list}): ${node.type.getText()}`
  const line = write(parameters.join(', '))
  return line.length <= 100 ? line : write(`\n${parameters.map((parameter) => `  ${parameter},\n`).join('')}`)
}

/** The type of a method, as that of a property that is a function. */
function functionType(node) {
  const types = node.typeParameters ? `<${node.typeParameters.map((type) => type.getText()).join(', ')}>` : ''
  return `${types}(${node.parameters.map((parameter) => parameter.getText()).join(', ')}) => ${node.type.getText()}`
}

/** That a property with a `?` may be undefined goes without saying. */
function typeOf(field, node) {
  const type = node?.type?.getText() ?? field.type ?? field.getSignature.type
  return field.flags.isOptional ? String(type).replace(/ \| undefined$/, '') : type
}

function code(type) {
  return `\`${String(type).replace(/\s+/g, ' ').replaceAll('|', '\\|')}\``
}

/** The description and the default. The comment names it in a sentence ("Default: 5000.") or marks a value "(default)". */
function splitDefault(text) {
  const [sentence, value] = /\s*Default: (.+?)\.(?=\s|$)/.exec(text) ?? []
  if (sentence) return [text.replace(sentence, '').trim(), value]
  return [text, /(`[^`]+`) \(default\)/.exec(text)?.[1] ?? '']
}
