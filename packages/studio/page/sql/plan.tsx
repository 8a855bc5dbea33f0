export interface PlanStep {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** A query plan as a tree. Steps that read whole tables, or sort, stand out. */
export function Plan({ steps, parent = 0 }: { steps: readonly PlanStep[]; parent?: number }) {
  const own = steps.filter((step) => step.parent === parent)
  if (own.length === 0) return parent === 0 ? <p class="faint">Nothing to plan.</p> : null
  return (
    <ul class="plan">
      {own.map((step) => (
        <li key={step.id}>
          <span class={`step ${costOf(step.detail)}`}>{step.detail}</span>
          <Plan steps={steps} parent={step.id} />
        </li>
      ))}
    </ul>
  )
}

function costOf(detail: string): string {
  if (/^SCAN (?!CONSTANT)/.test(detail) && !/USING (COVERING )?INDEX/.test(detail)) return 'scan'
  return /USE TEMP B-TREE|AUTOMATIC/.test(detail) ? 'sort' : ''
}
