#include "compiler/codegen/ControlFlow.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Disassembly.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {

llvm::Error ControlFlow::findBlocks(const std::vector<Instruction> &instructions) {
  std::map<std::uint64_t, unsigned> indexAt;
  for (unsigned i = 0; i < instructions.size(); ++i)
    indexAt[instructions[i].address] = i;
  std::set<unsigned> leaders{0};
  for (unsigned i = 0; i < instructions.size(); ++i) {
    const Instruction &instruction = instructions[i];
    if (instruction.branchTarget) {
      const auto target = indexAt.find(*instruction.branchTarget);
      if (target == indexAt.end())
        return codegenError(StatusCode::Corrupt, "branch at {:#x} to {:#x} leaves the kernel",
                            instruction.address, *instruction.branchTarget);
      leaders.insert(target->second);
    }
    if ((instruction.branchTarget || !instruction.fallsThrough) && i + 1 < instructions.size())
      leaders.insert(i + 1);
  }
  std::map<unsigned, unsigned> blockAt; // first instruction -> block
  for (const unsigned leader : leaders) {
    if (!blocks_.empty())
      blocks_.back().end = leader;
    blockAt[leader] = blocks_.size();
    blocks_.push_back({.begin = leader, .end = static_cast<unsigned>(instructions.size())});
  }
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    const Instruction &last = instructions[blocks_[i].end - 1];
    auto connect = [&](unsigned to) {
      if (llvm::is_contained(blocks_[i].successors, to))
        return;
      blocks_[i].successors.push_back(to);
      blocks_[to].predecessors.push_back(i);
    };
    if (last.branchTarget)
      connect(blockAt[indexAt[*last.branchTarget]]);
    if (last.fallsThrough && i + 1 < blocks_.size())
      connect(i + 1);
  }
  return llvm::Error::success();
}

// Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm".
void ControlFlow::findDominators() {
  std::vector<unsigned> postorder;
  std::vector<int> number(blocks_.size(), -1);
  std::vector<bool> seen(blocks_.size());
  std::vector<std::pair<unsigned, unsigned>> stack{{0, 0}};
  seen[0] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next < blocks_[block].successors.size()) {
      const unsigned successor = blocks_[block].successors[next++];
      if (!seen[successor]) {
        seen[successor] = true;
        stack.emplace_back(successor, 0);
      }
      continue;
    }
    number[block] = static_cast<int>(postorder.size());
    postorder.push_back(block);
    stack.pop_back();
  }
  immediateDominator_.assign(blocks_.size(), -1);
  immediateDominator_[0] = 0;
  auto common = [&](int a, int b) {
    while (a != b) {
      while (number[a] < number[b])
        a = immediateDominator_[a];
      while (number[b] < number[a])
        b = immediateDominator_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = postorder.rbegin(); it != postorder.rend(); ++it) {
      if (*it == 0)
        continue;
      int dominator = -1;
      for (const unsigned predecessor : blocks_[*it].predecessors)
        if (immediateDominator_[predecessor] >= 0)
          dominator = dominator < 0 ? static_cast<int>(predecessor)
                                    : common(dominator, static_cast<int>(predecessor));
      changed |= immediateDominator_[*it] != dominator;
      immediateDominator_[*it] = dominator;
    }
  }
}

bool ControlFlow::dominates(unsigned a, unsigned b) const {
  if (immediateDominator_[b] < 0)
    return false;
  while (b != a && b != 0)
    b = static_cast<unsigned>(immediateDominator_[b]);
  return a == b;
}

void ControlFlow::findLoops() {
  for (unsigned header = 0; header < blocks_.size(); ++header) {
    Loop loop{.header = header};
    for (const unsigned predecessor : blocks_[header].predecessors)
      if (dominates(header, predecessor))
        loop.latches.push_back(predecessor);
    if (loop.latches.empty())
      continue;
    std::set<unsigned> members{header};
    std::vector<unsigned> work = loop.latches;
    while (!work.empty()) {
      const unsigned block = work.back();
      work.pop_back();
      if (immediateDominator_[block] >= 0 && members.insert(block).second)
        work.insert(work.end(), blocks_[block].predecessors.begin(),
                    blocks_[block].predecessors.end());
    }
    loop.blocks.assign(members.begin(), members.end());
    // The dominators of the first latch, up to the header, in reverse; the others must agree.
    for (unsigned block = loop.latches.front();; block = immediateDominator_[block]) {
      if (llvm::all_of(loop.latches, [&](unsigned latch) { return dominates(block, latch); }))
        loop.everyTime.push_back(block);
      if (block == header)
        break;
    }
    std::reverse(loop.everyTime.begin(), loop.everyTime.end());
    loops_.push_back(std::move(loop));
  }
}

llvm::Expected<ControlFlow> ControlFlow::build(const std::vector<Instruction> &instructions) {
  ControlFlow result;
  if (instructions.empty())
    return result;
  if (llvm::Error error = result.findBlocks(instructions))
    return error;
  result.findDominators();
  result.findLoops();
  return result;
}

} // namespace wavesmith::compiler
