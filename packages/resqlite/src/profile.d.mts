export * from './profile.js'
