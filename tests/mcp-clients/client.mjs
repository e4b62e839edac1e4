// Runs jobs with the MCP client of the TypeScript SDK against a gateway. Reads { url, key, jobs: [{ tool, arguments,
// progress? }] } from standard input and writes { version, tools, results }, with one result per job:
// { isError, content } or { code, message }. If progress is true, the client asks for notifications, each of which
// restarts its timeout, and their values are in progress of the result. A connection that is refused is { refused }.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';

/** Shorter than the call of the test that asks for progress. */
const TIMEOUT_MS = 15_000;

const call = async (client, { tool, arguments: given, progress }) => {
  const asked = { name: tool, arguments: given };
  try {
    if (!progress) return await client.callTool(asked);
    const values = [];
    const onprogress = (notification) => values.push(notification.progress);
    const options = { onprogress, resetTimeoutOnProgress: true, timeout: TIMEOUT_MS };
    const result = await client.callTool(asked, undefined, options);
    return { ...result, progress: values };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { code: error.code, message: error.message };
  }
};

const run = async ({ url, key, jobs }) => {
  const client = new Client({ name: 'gatehouse-test', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  try {
    await client.connect(transport);
  } catch (error) {
    return { refused: String(error) };
  }
  const { tools } = await client.listTools();
  const results = [];
  for (const job of jobs) results.push(await call(client, job));
  await transport.terminateSession();
  await client.close();
  return { version: transport.protocolVersion, tools: tools.map((tool) => tool.name), results };
};

let input = '';
for await (const chunk of process.stdin) input += chunk;
console.log(JSON.stringify(await run(JSON.parse(input))));
