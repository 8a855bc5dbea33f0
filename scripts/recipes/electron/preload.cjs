const { ipcRenderer } = require('electron')

ipcRenderer.on('port', ({ ports }) => window.postMessage('port', '*', ports))
