/** The paths of the protocols of devices. They are defined by other projects, and not in the OpenAPI document. */
export const PROTOCOLS = { koreader: '/koreader', webdav: '/dav', readwise: '/readwise' } as const
