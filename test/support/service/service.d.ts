// The bundled service: workerd.ts loads it wherever a Worker under test/ imports this path.
declare const service: {
  fetch: (request: Request, env: unknown, context: ExecutionContext) => Response | Promise<Response>
  scheduled: (event: ScheduledController, env: unknown, context: ExecutionContext) => Promise<void>
}
export default service
