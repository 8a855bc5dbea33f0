import { once } from 'node:events'

/**
 * Makes a server listen on the port of the environment variable PORT, or on 3000. Resolves to its address. If the port is taken,
 * the program ends, and says how to choose another.
 *
 * @param {import('node:http').Server} server
 */
export async function serve(server) {
  const port = Number(process.env.PORT ?? 3000)
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error
    console.error(`Port ${port} is taken. The environment variable PORT chooses another.`)
    process.exit(1)
  }
  return `http://127.0.0.1:${server.address().port}`
}
