import { bold, green, grouped, red } from '../lib/terminal.js'

/** The findings, for people. */
export function report(found) {
  const line = (name, count, isGood, more = '') => {
    const mark = isGood ? green('✓') : red('✗')
    return `  ${mark} ${name.padEnd(34)} ${grouped(count).padStart(9)}${more && `  ${more}`}`
  }
  const equal = found.areEqual ? 'equal' : red('NOT EQUAL')
  return [
    '',
    line('acknowledged', found.acknowledged, found.acknowledged > 0),
    line('  of them lost', found.lost, found.lost === 0),
    line('  done twice', found.twice, found.twice === 0),
    line('failed as not done', found.refused, true),
    line('  of them there nevertheless', found.refusedAndThere, found.refusedAndThere === 0),
    line(
      'outcome unknown',
      found.unknown,
      true,
      found.unknown > 0 ? `${found.unknownAndThere} of them there` : '',
    ),
    line(
      'rows of each node',
      found.rows,
      found.areEqual,
      `rows and schema are ${equal}, position ${found.position}`,
    ),
    line('damaged files', found.damaged, found.damaged === 0),
    '',
    `  ${bold(found.isGood ? green('Nothing acknowledged was lost, nothing was done twice, all nodes are equal.') : red('The cluster broke its promises.'))}`,
    `  The longest time without an acknowledgement was ${seconds(found.longestGap)}.`,
    '',
  ].join('\n')
}

export function seconds(milliseconds) {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
