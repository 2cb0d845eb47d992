// The service as it would be deployed: the bench bundles it and puts it beside these entries as service.js.
declare const service: {
  fetch: (request: Request, env: unknown, context: ExecutionContext) => Response | Promise<Response>
}
export default service
