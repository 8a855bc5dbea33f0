/** A row of EXPLAIN QUERY PLAN. */
export interface PlanStep {
  readonly id: number
  /** The id of the step it belongs to; 0 at the top. */
  readonly parent: number
  readonly detail: string
}

/** Draws the plan of a query as a tree, a line for each step. */
export function planTree(steps: readonly PlanStep[], parent = 0, indent = ''): string[] {
  const children = steps.filter((step) => step.parent === parent)
  return children.flatMap(({ id, detail }, index) => {
    const last = index === children.length - 1
    const branch = last ? '└─ ' : '├─ '
    return [indent + branch + detail, ...planTree(steps, id, indent + (last ? '   ' : '│  '))]
  })
}
