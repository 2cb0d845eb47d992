/** The colours of a book's spine and of what is printed on it, with a contrast of at least 4.5. */
type Spine = [cloth: string, print: string]

// The colours of the reference page (src/reference/page/page.css), and paler and deeper ones of the same hues.
export const THEMES = {
  light: {
    paper: '#fff',
    ink: '#1f2328',
    faint: '#59636e',
    line: '#d1d9e0',
    accent: '#0b5cad',
    star: '#85550a',
    unknown: ['#f6f8fa', '#1f2328'] as Spine,
    spines: [
      ['#0b5cad', '#fff'],
      ['#c9dff2', '#1f2328'],
      ['#16324f', '#fff'],
      ['#eadfc9', '#1f2328'],
      ['#4f7191', '#fff'],
      ['#2c6a55', '#fff'],
      ['#dbe2e8', '#1f2328'],
      ['#cd9f55', '#1f2328'],
      ['#a9c6df', '#1f2328'],
      ['#b0503e', '#fff'],
    ] as Spine[],
  },
  dark: {
    paper: '#1c2022',
    ink: '#e4e6e6',
    faint: '#a9b0b4',
    line: '#3d4549',
    accent: '#6cb6ff',
    star: '#e2b05c',
    unknown: ['#262b2e', '#e4e6e6'] as Spine,
    spines: [
      ['#6cb6ff', '#1c2022'],
      ['#2d4a66', '#e4e6e6'],
      ['#c9dff2', '#1c2022'],
      ['#4d585e', '#e4e6e6'],
      ['#3a6ea5', '#fff'],
      ['#76b99b', '#1c2022'],
      ['#8fa9be', '#1c2022'],
      ['#dcb26b', '#1c2022'],
      ['#3c4d5c', '#e4e6e6'],
      ['#d98a7b', '#1c2022'],
    ] as Spine[],
  },
}
export type Theme = (typeof THEMES)['light']
