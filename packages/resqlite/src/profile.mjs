import profile from './profile.js'

export const { available, diff, reset, snapshot } = profile
