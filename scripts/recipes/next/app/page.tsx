import { Tasks } from './tasks'

export default function Page() {
  return <Tasks />
}
