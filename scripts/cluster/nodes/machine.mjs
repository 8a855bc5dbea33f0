// One machine of three: a server of the log and a node, each with its place in the network and its disk.

import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../lib/process.mjs'
import { Disk } from '../disk.mjs'

const NODE_DISK = '96m'

export class Machine {
  #hasSmallDisk = false

  constructor(index, folder) {
    this.index = index
    this.folder = join(folder, `machine-${index + 1}`)
    this.database = join(this.folder, 'node')
    mkdirSync(this.database, { recursive: true })
  }

  /** A disk of its own for the node, which can be full. */
  addSmallDisk() {
    run('mount', ['-t', 'tmpfs', '-o', `size=${NODE_DISK}`, 'none', this.database])
    this.#hasSmallDisk = true
  }

  /** A disk for server and node, whose power can fail. */
  async addDisk(seed) {
    this.disk = new Disk(join(this.folder, 'disk'))
    await this.disk.mount(seed)
    this.serverData = join(this.disk.path, 'server')
    this.database = join(this.disk.path, 'node')
    mkdirSync(this.database)
  }

  addPlaces(network) {
    this.places = { server: network.add(), node: network.add() }
  }

  /** Writes what nobody needs, until no byte is left on the disk of the node. */
  fillDisk() {
    const ballast = openSync(join(this.database, 'ballast'), 'w')
    for (let size = 1 << 20; size >= 512; ) {
      const { bavail, bsize } = statfsSync(this.database)
      if (bavail * bsize < size) size >>= 1
      else {
        try {
          writeSync(ballast, Buffer.alloc(size))
        } catch (error) {
          if (error.code !== 'ENOSPC') throw error
          size >>= 1
        }
      }
    }
    closeSync(ballast)
  }

  freeDisk() {
    rmSync(join(this.database, 'ballast'))
  }

  async removeDisks() {
    if (this.#hasSmallDisk) run('umount', [this.database])
    await this.disk?.unmount()
  }

  async killAll() {
    await Promise.all([this.server.kill(), this.node.kill()])
  }

  startAll() {
    this.server.start()
    this.node.start()
  }

  /** Loses the writes that were not synced, on server and node. */
  async losePower(seed) {
    await this.killAll()
    await this.disk.failPower()
    await this.disk.mount(seed)
  }
}
