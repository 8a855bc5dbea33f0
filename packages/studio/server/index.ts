export { type OpenedStudio, type OpenStudioOptions, openStudio } from './open.js'
export { createStudio, type Studio, type StudioOptions } from './studio.js'
