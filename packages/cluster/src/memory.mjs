import module from './memory.js'

export const { memory } = module
