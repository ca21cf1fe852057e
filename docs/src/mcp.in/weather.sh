# An MCP server with one tool. Real ones are programs such as `npx -y @modelcontextprotocol/server-filesystem docs`.
text='Returns the weather in a city.'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"1.0.0"}}' ;;
    *'"method":"tools/list"'*)
      schema='{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
      result='{"tools":[{"name":"forecast","description":"'$text'","inputSchema":'$schema',"annotations":{"readOnlyHint":true}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"Rain, 3 degrees."}]}' ;;
    *)
      [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no such method"}}\n' "$id"
      continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
