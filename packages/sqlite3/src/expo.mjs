export * from './expo.js'
