// Makes the page interactive: theme, contents, samples, search, and forms that try operations.
import './samples.js'
import './search.js'
import './try.js'
import './invitation.js'

const root = document.documentElement
const contents = document.getElementById('contents')

document.getElementById('theme').addEventListener('click', () => {
  const { colorScheme } = root.style
  const isDark = colorScheme ? colorScheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  root.style.colorScheme = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', root.style.colorScheme)
})

document.addEventListener('click', ({ target }) => {
  const popover = target.closest('a')?.closest('[popover]')
  if (popover?.matches(':popover-open')) popover.hidePopover()
})

contents.addEventListener('toggle', () => {
  contents.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })
})

// Marks the section in view in the contents.
const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes) {
      const link = contents.querySelector(`#list a[href="#${target.id}"]`)
      link?.setAttribute('aria-current', isIntersecting)
      if (isIntersecting && contents.checkVisibility()) link?.scrollIntoView({ block: 'nearest' })
    }
  },
  { rootMargin: '-80px 0px -85% 0px' },
)
for (const target of document.querySelectorAll('main > [id]')) observer.observe(target)
