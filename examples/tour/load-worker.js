import { parentPort } from 'node:worker_threads'
import { cityRows } from '../data/cities.js'

parentPort.postMessage(cityRows())
