// Runs jobs with the MCP client of the TypeScript SDK against a gateway. Reads { url, key, jobs: [{ tool,
// arguments }] } from standard input and writes { version, tools, results }, with one result per job:
// { isError, content } or { code, message }. A connection that is refused is { refused }.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';

const call = async (client, { tool, arguments: given }) => {
  try {
    return await client.callTool({ name: tool, arguments: given });
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
