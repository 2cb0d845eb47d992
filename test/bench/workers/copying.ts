// Copies the cells of a file as JSON, many times: work of a fixed size that the speed of the machine changes as it changes an
// import's.
export default {
  async fetch(request) {
    const lines = (await request.text()).split('\n')
    let cells = 0
    for (let n = 0; n < 20; n++) {
      const copy: string[][] = JSON.parse(JSON.stringify(lines.map((line) => line.split(','))))
      cells += copy.reduce((total, { length }) => total + length, 0)
    }
    return new Response(String(cells))
  },
} satisfies ExportedHandler
