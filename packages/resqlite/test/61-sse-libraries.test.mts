import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fastifySSE } from '@fastify/sse'
import { createAdaptorServer } from '@hono/node-server'
import { createResponse, createSession } from 'better-sse'
import compression from 'compression'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { streamSSE } from 'hono/streaming'
import { remoteQuery } from 'resqlite/client'
import { sendSSE, sseEvents, sseResponse } from 'resqlite/sse'
import { noStreams, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

const KEY = { key: 'id' } as const

type Live = ReturnType<typeof tasksOf>

/** Each library, with the live query as it is written in its own way. Returns a server that does not listen yet. */
const libraries: Record<string, (live: Live) => Server | Promise<Server>> = {
  'node:http, by sendSSE': (live) => createServer((_, response) => void sendSSE(live, response, KEY)),

  'Express, by sendSSE': (live) =>
    createServer(express().get('/', (_, response) => void sendSSE(live, response, KEY))),

  'Express with compression, by sendSSE': (live) =>
    createServer(
      express()
        .use(compression({ threshold: 0 }))
        .get('/', (_, response) => void sendSSE(live, response, KEY)),
    ),

  'Fastify, by sendSSE': async (live) => {
    const app = fastify()
    app.get('/', (_, reply) => {
      reply.hijack()
      void sendSSE(live, reply.raw, KEY)
    })
    await app.ready()
    return app.server
  },

  'Fastify, by sseResponse': async (live) => {
    const app = fastify()
    app.get('/', ({ headers, signal }, reply) => {
      const lastEventId = headers['last-event-id'] as string | undefined
      return reply.send(
        sseResponse(live, new Request('http://localhost', { signal }), { ...KEY, lastEventId }),
      )
    })
    await app.ready()
    return app.server
  },

  'Hono, by sseResponse': (live) => honoServer(new Hono().get('/', (c) => sseResponse(live, c.req.raw, KEY))),

  'Hono with compress, by sseResponse': (live) =>
    honoServer(new Hono().use(compress({ threshold: 0 })).get('/', (c) => sseResponse(live, c.req.raw, KEY))),

  'streamSSE of Hono': (live) =>
    honoServer(
      new Hono().get('/', (c) =>
        streamSSE(c, async (stream) => {
          const events = sseEvents(live, { ...KEY, lastEventId: c.req.header('last-event-id') })
          stream.onAbort(() => void events.return())
          for await (const event of events) await stream.writeSSE(event)
        }),
      ),
    ),

  '@fastify/sse': async (live) => {
    const app = fastify()
    await app.register(fastifySSE, { serializer: String })
    app.get('/', { sse: 'only' }, async (_, { sse }) => {
      const events = sseEvents(live, { ...KEY, lastEventId: sse.lastEventId })
      sse.onClose(() => void events.return())
      await sse.send(events)
    })
    await app.ready()
    return app.server
  },

  'better-sse on node:http': (live) =>
    createServer(async (request, response) => {
      const session = await createSession(request, response, { serializer: String })
      const events = sseEvents(live, { ...KEY, lastEventId: session.lastId })
      session.once('disconnected', () => void events.return())
      for await (const { data, event, id } of events) session.push(data, event, id)
    }),

  'better-sse with a Response': (live) =>
    honoServer(
      new Hono().get('/', (c) =>
        createResponse(c.req.raw, { serializer: String }, async (session) => {
          const events = sseEvents(live, { ...KEY, lastEventId: session.lastId })
          session.once('disconnected', () => void events.return())
          for await (const { data, event, id } of events) session.push(data, event, id)
        }),
      ),
    ),
}

const honoServer = ({ fetch }: Hono) => createAdaptorServer({ fetch }) as Server

for (const [library, make] of Object.entries(libraries)) {
  // G166
  test(`${library}: clients follow, come back with what they missed, and leave without a trace`, async (t) => {
    const logged = t.mock.method(console, 'error', () => {})
    const db = await taskDatabase(t)
    const url = await listening(t, await make(tasksOf(db, 7)))
    const [one, other] = [follow(t, url), follow(t, url)]
    await Promise.all([one.until('Rake,Mow'), other.until('Rake,Mow')])
    await db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
    await Promise.all([one.until('Rake,Sow'), other.until('Rake,Sow')])
    one.stop()
    await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
    await other.until('Rake,Sow,Dig')
    one.start()
    await one.until('Rake,Sow,Dig')
    assert.deepEqual([one.wholes, other.wholes], [1, 1])
    one.stop()
    other.stop()
    await noStreams(db)
    assert.deepEqual(logged.mock.calls, [])
  })
}

async function listening(t: TestContext, server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** A client of `resqlite/client`. `wholes`: how often it has got the whole result. */
function follow(t: TestContext, url: string) {
  const parse = (json: string) => {
    const value = JSON.parse(json)
    if (value.initial) client.wholes++
    return value
  }
  const remote = remoteQuery<Task>(url, { parse })
  const client = {
    wholes: 0,
    stop: () => {},
    start() {
      client.stop = remote.subscribe(() => {})
    },
    async until(titles: string) {
      while (remote.current?.map(({ title }) => title).join() !== titles) await turn()
    },
  }
  client.start()
  t.after(() => client.stop())
  return client
}
