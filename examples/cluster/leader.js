/** Time in milliseconds for a server to say who leads. */
const PATIENCE = 500

const ask = {
  /** Every server knows the leader of the stream. */
  async nats(monitor) {
    const { account_details: accounts = [] } = await json(`${monitor}/jsz?accounts=true&streams=true`)
    const streams = accounts.flatMap(({ stream_detail: streams = [] }) => streams)
    return streams.find(({ name }) => !name.endsWith('-snapshots'))?.cluster?.leader
  },
  /** Every server knows whether it leads itself. */
  async etcd(monitor, name) {
    const status = await json(`${monitor}/v3/maintenance/status`, { method: 'POST', body: '{}' })
    return status.leader === status.header.member_id ? name : undefined
  },
}

/** The name of the server that leads the log, as those of these names say; undefined while none does. */
export async function leaderOf(kind, names, monitors) {
  const said = await Promise.all(names.map((name, i) => ask[kind](monitors[i], name).catch(() => undefined)))
  return said.find((leader) => leader !== undefined)
}

async function json(url, options) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE) })
  return await response.json()
}
