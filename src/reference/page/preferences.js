// Runs before the first paint: the theme and the language of samples that the reader chose.
const { dataset } = document.documentElement
dataset.theme = localStorage.getItem('theme') ?? ''
dataset.language = localStorage.getItem('language') ?? 'curl'
