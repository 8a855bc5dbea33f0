module.exports = { transform: {} }
