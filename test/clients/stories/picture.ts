// A GIF of one pixel.
const GIF = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='

export const PICTURE = Uint8Array.from(atob(GIF), (char) => char.charCodeAt(0))
export const pictureFile = new File([PICTURE], 'page.gif')
