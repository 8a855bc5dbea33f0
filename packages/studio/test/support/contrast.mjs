/**
 * In a page: the texts whose contrast with what is behind them is less than 4.5 (WCAG 2.1, AA), with the number. What cannot be
 * used now is left out.
 */
export function weakTexts() {
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const rgba = (colour) => {
    pixel.clearRect(0, 0, 1, 1)
    pixel.fillStyle = colour
    pixel.fillRect(0, 0, 1, 1)
    return [...pixel.getImageData(0, 0, 1, 1).data]
  }
  const over = (above, below) =>
    [0, 1, 2].map((i) => (above[i] * above[3] + below[i] * (255 - above[3])) / 255).concat(255)
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrastOf = (element) => {
    const chain = []
    for (let at = element; at !== null; at = at.parentElement) chain.unshift(getComputedStyle(at))
    let behind = [255, 255, 255, 255]
    let opacity = 1
    for (const style of chain) {
      behind = over(rgba(style.backgroundColor), behind)
      opacity *= Number(style.opacity)
    }
    const colour = rgba(getComputedStyle(element).color)
    colour[3] *= opacity
    const [light, dark] = [luminance(over(colour, behind)), luminance(behind)].sort((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  }
  const hasText = ({ childNodes }) =>
    [...childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
  return [...document.querySelectorAll('body *')]
    .filter(
      (element) => hasText(element) && element.getClientRects().length > 0 && !element.closest(':disabled'),
    )
    .map((element) => ({
      contrast: contrastOf(element),
      text: element.textContent,
      class: element.className,
    }))
    .filter(({ contrast }) => contrast < 4.5)
}
