// The Worker between the service and the process that started workerd. JavaScript, which workerd runs as it is.
import { WorkerEntrypoint } from 'cloudflare:workers'

export default class extends WorkerEntrypoint {
  /** The service calls it as its binding EMAIL. */
  async send(mail) {
    const response = await this.env.MAILER.fetch('http://mailer/', { method: 'POST', body: JSON.stringify(mail) })
    if (!response.ok) throw new Error(await response.text())
  }

  /** The process calls it for each sweep. */
  async fetch() {
    return Response.json(await this.env.SERVICE.scheduled())
  }
}
