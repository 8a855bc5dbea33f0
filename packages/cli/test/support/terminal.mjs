import { execFileSync, spawnSync } from 'node:child_process'

export const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

let made = 0

/** A terminal in which a command runs. What the command leaves on the screen stays to be read. */
export class Terminal {
  #socket = `resqlite-cli-${process.pid}-${++made}`

  constructor(t, words, columns, rows) {
    const command = `${words.map(quoted).join(' ')}; echo "exit code $?"; exec cat`
    this.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 't', '-x', `${columns}`, '-y', `${rows}`, command)
    t.after(() => this.close())
  }

  tmux(...args) {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' })
  }

  /** The screen, once it fulfils a condition. With `-e` it has its codes, as `<43m>`. */
  async until(condition, ...options) {
    for (;;) {
      const text = this.screen(...options)
      if (condition(text)) return text
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  screen(...options) {
    const text = this.tmux('capture-pane', '-p', '-t', 't', ...options)
    return text.replaceAll('\x1b[', '<').replace(/<([\d;]*)m/g, '<$1m>')
  }

  /** Adds to a file what the command writes from now on: the screen is looked at too seldom for what it shows for a moment only. */
  record(file) {
    this.tmux('pipe-pane', '-t', 't', `cat >> ${quoted(file)}`)
  }

  press(...keys) {
    this.tmux('send-keys', '-t', 't', ...keys)
  }

  resize(columns, rows) {
    this.tmux('resize-window', '-t', 't', '-x', `${columns}`, '-y', `${rows}`)
  }

  close() {
    spawnSync('tmux', ['-L', this.#socket, 'kill-server'], { stdio: 'ignore' })
  }
}

function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`
}
