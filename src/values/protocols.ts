/** The paths of the protocols of devices. They are others’, so the OpenAPI document has none of them. */
export const PROTOCOLS = { koreader: '/koreader', webdav: '/dav', readwise: '/readwise' } as const
