import { hasText, readUint, writeText } from '../bytes'
import { findProfile } from '../icc'
import { type Box, readContent, writeBox, writeFullBox } from './boxes'

const ALPHA = ['urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0', 'urn:mpeg:hevc:2015:auxid:1\0']

// The properties that affect rendering, with their lengths (HEIF, 6.5; AVIF, 2.3; MIAF, 7.3.6). A codec configuration
// may be longer, but then repeats headers from the image data.
const LENGTHS = new Map([
  ['ispe', 12],
  ['av1C', 4],
  ['irot', 1],
  ['imir', 1],
  ['clap', 32],
  ['pasp', 8],
  ['clli', 4],
  ['mdcv', 24],
  ['amve', 8],
  ['a1op', 1],
  ['lsel', 2],
])

/** Whether a property marks its item as an alpha plane (AVIF, 4.1). */
export const isAlpha = (bytes: Uint8Array, box: Box) =>
  (box.type === 'auxC' || box.type === 'auxi') && ALPHA.some((name) => hasText(readContent(bytes, box), 4, name))

/** Reads the size from an ispe property; undefined for other properties. */
export const readStatedSize = (bytes: Uint8Array, box: Box) => {
  const content = readContent(bytes, box)
  if (box.type !== 'ispe' || content.length < 12) return undefined
  return { width: readUint(content, 4, 4), height: readUint(content, 8, 4) }
}

// Either colour codes or an ICC profile (ISO/IEC 14496-12, 12.1.5).
const cleanColour = (content: Uint8Array) => {
  if (hasText(content, 0, 'nclx')) return content.length < 11 ? undefined : writeBox('colr', [content.subarray(0, 11)])
  const profile =
    hasText(content, 0, 'prof') || hasText(content, 0, 'rICC') ? findProfile(content.subarray(4)) : undefined
  return profile && writeBox('colr', [content.subarray(0, 4), profile])
}

// The bit depth of each channel (HEIF, 6.5.6).
const cleanDepths = (content: Uint8Array) => {
  const channels = content[4] ?? 0
  const isValid = channels >= 1 && channels <= 4 && content.length >= 5 + channels
  return isValid ? writeFullBox('pixi', 0, [content.subarray(4, 5 + channels)]) : undefined
}

// The sizes of layers, of two or four bytes each (AVIF, 2.3.2.3).
const cleanLayers = (content: Uint8Array) => {
  const length = (content[0] ?? 0) & 1 ? 13 : 7
  return content.length < length ? undefined : writeBox('a1lx', [content.subarray(0, length)])
}

/** Rewrites a property without free text or padding; undefined if it does not affect rendering. */
export const cleanProperty = (bytes: Uint8Array, box: Box) => {
  const content = readContent(bytes, box)
  if (box.type === 'colr') return cleanColour(content)
  if (box.type === 'pixi') return cleanDepths(content)
  if (box.type === 'a1lx') return cleanLayers(content)
  if (isAlpha(bytes, box)) return writeFullBox(box.type, 0, [writeText(ALPHA[0] ?? '')])
  const length = LENGTHS.get(box.type)
  return length && length <= content.length ? writeBox(box.type, [content.subarray(0, length)]) : undefined
}
