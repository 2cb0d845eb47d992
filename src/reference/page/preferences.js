// Runs before the first paint: the theme and the language of samples that the reader chose.
const { dataset, style } = document.documentElement
style.colorScheme = localStorage.getItem('theme') ?? ''
dataset.language = localStorage.getItem('language') ?? 'curl'
