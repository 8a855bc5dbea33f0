import { render } from 'preact'
import { takeToken } from './api.ts'
import { App } from './app.tsx'

takeToken()
render(<App />, document.getElementById('app') as HTMLElement)
