import { measureScenarios } from '../turns.mjs'

export const measure = async (context) => ({
  scenarios: await measureScenarios(
    ['a11c-baseline', 'a11c-disjoint', 'a11c-overlap', 'keyed', 'keyed-control'],
    context,
  ),
})
